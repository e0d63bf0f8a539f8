/**
 * True if `inner` is `outer` or below it. Compares text: both must be absolute, or relative to the same directory, and
 * normalized (`/a`, never `/a/` or `/a/../b`). Symlinks are not followed.
 */
export function isWithin(outer: string, inner: string): boolean {
  return inner === outer || isBelow(outer, inner);
}

/** Like `isWithin`, but false if both are equal. */
export function isBelow(outer: string, inner: string): boolean {
  // `/` ends with its separator. Builds no string, because searches of whole trees call this.
  return inner.length > outer.length && inner.startsWith(outer) && (outer.endsWith('/') || inner[outer.length] === '/');
}
