export { createGallery, type Gallery, type GalleryLink } from './gallery.ts';
export type { GalleryPress, GalleryReply, PressInGallery } from './routes.ts';
