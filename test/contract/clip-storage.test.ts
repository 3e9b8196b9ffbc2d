import { describe } from 'vitest';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import { clipStorageContract } from './clip-storage.contract.ts';

describe('clips in a folder', () => {
  clipStorageContract(() => ({ open: (folder) => new FolderStorage(folder), sharesFolder: true }));
});
