export { type Bucket, openBucket } from './bucket.ts';
export { type BucketAddress, type BucketVariables, readBucketAddress } from './bucket-address.ts';
export type { ClipStorage, FilesOfClips } from './clip-storage.ts';
export { type MediaConfig, type OpenStorage, openStorage } from './open.ts';
export { deferUpload } from './uploads.ts';
