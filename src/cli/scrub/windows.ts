import type { Finding } from '../../scrub/finding.ts';
import type { ScrubbedText, TextScrubber } from './text-scrubber.ts';

/** Longer texts are scrubbed in windows of this size. */
const WINDOW_CHARS = 4 * 1024 * 1024;
/** Characters that two windows share. A secret and the context that identifies it lie closer together. */
const OVERLAP_CHARS = 256 * 1024;

/**
 * Scrubs a text of any length piece by piece, in bounded memory. Only a secret that needs more than 256 Ki characters
 * of context to be recognised could be missed. Findings have offsets in the whole text.
 */
export async function* scrubInWindows(
  texts: AsyncIterable<string>,
  scrubber: TextScrubber,
  windowChars = WINDOW_CHARS,
  overlapChars = OVERLAP_CHARS,
): AsyncGenerator<ScrubbedText> {
  const window = { text: '', before: 0, offset: 0 };
  for await (const text of texts) {
    window.text += text;
    while (window.text.length >= window.before + windowChars + overlapChars) {
      const end = lineEndBefore(window.text, window.before + windowChars, window.before);
      yield await scrubPart(scrubber, window, end);
      const kept = Math.max(0, end - overlapChars);
      window.offset += kept;
      window.before = end - kept;
      window.text = window.text.slice(kept);
    }
  }
  yield await scrubPart(scrubber, window, window.text.length);
}

/** Returns `[before, end)` of the window. The rest of the window is context. */
async function scrubPart(
  scrubber: TextScrubber,
  { text, before, offset }: { text: string; before: number; offset: number },
  end: number,
): Promise<ScrubbedText> {
  const margins = { before, after: text.length - end };
  const scrubbed = await scrubber.scrub(text, margins);
  const findings = scrubbed.findings
    .filter((finding) => finding.start >= before && finding.start < end)
    .map((finding): Finding => ({ ...finding, start: finding.start + offset, end: finding.end + offset }));
  return { text: scrubbed.text, findings };
}

/** The offset after the last line end within reach, or `wanted` if no line ends there. */
function lineEndBefore(text: string, wanted: number, least: number): number {
  const lineEnd = text.lastIndexOf('\n', wanted - 1) + 1;
  if (lineEnd > least) return lineEnd;
  const unit = text.charCodeAt(wanted);
  return unit >= 0xdc00 && unit <= 0xdfff ? wanted + 1 : wanted;
}
