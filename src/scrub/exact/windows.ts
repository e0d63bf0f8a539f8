import type { Span } from '../../text/offset-map.ts';

/** The surroundings of places in a text, `margin` characters on both sides, in order of place and not touching. */
export function windowsAround(text: string, places: readonly Span[], margin: number): Span[] {
  const windows: Span[] = [];
  for (const place of places) {
    const start = Math.max(0, place.start - margin);
    const end = Math.min(text.length, place.end + margin);
    const last = windows.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else windows.push({ start, end });
  }
  return windows;
}

/** The lines of places in a text, in order of place and not touching, without the line ends around them. */
export function linesAround(text: string, places: readonly Span[]): Span[] {
  const lines: Span[] = [];
  for (const place of places) {
    const last = lines.at(-1);
    if (last !== undefined && place.end <= last.end) continue;
    const lineEnd = text.indexOf('\n', place.end);
    const end = lineEnd === -1 ? text.length : lineEnd;
    const start = place.start === 0 ? 0 : text.lastIndexOf('\n', place.start - 1) + 1;
    if (last !== undefined && start <= last.end + 1) last.end = end;
    else lines.push({ start, end });
  }
  return lines;
}

/** Whether some parts of a text are at most half of it together. */
export function areFew(text: string, parts: readonly Span[]): boolean {
  return parts.reduce((sum, { start, end }) => sum + end - start, 0) <= text.length / 2;
}
