/** How an image or a PDF begins in base64. */
const STARTS = ['iVBORw0KGg', '/9j/', 'R0lGOD', 'UklGR', 'JVBERi0'];
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** True for the base64 of an image or a PDF, which no search for texts can read. */
export function isMedia(text: string): boolean {
  return STARTS.some((start) => text.startsWith(start)) && text.length > 64 && BASE64.test(text);
}
