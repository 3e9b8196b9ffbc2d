export { createGallery, type Gallery } from './gallery.ts';
export type { GalleryPress, GalleryReply, PressInGallery } from './routes.ts';
