import type { Finding } from '../../scrub/finding.ts';
import type { ScrubbedText, TextScrubber } from './text-scrubber.ts';

/** A text of up to so many characters is scrubbed as one; a longer one in windows of this size. */
const WINDOW_CHARS = 4 * 1024 * 1024;
/** Characters that two windows share: a secret and what tells that it is one lie closer together. */
const OVERLAP_CHARS = 256 * 1024;

/**
 * A text of any length, piece by piece. Within `windowChars` it is one piece, scrubbed as a whole; beyond that memory
 * stays bounded and only what needs more than 256 Ki characters around it to be recognised could be missed. Offsets
 * of findings are those of the whole text.
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

/** `[before, end)` of the window leaves; the rest of it is there to be searched. */
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

/** Behind the last line end in reach, so that a window ends where a line does; anywhere in a text without lines. */
function lineEndBefore(text: string, wanted: number, least: number): number {
  const lineEnd = text.lastIndexOf('\n', wanted - 1) + 1;
  if (lineEnd > least) return lineEnd;
  const unit = text.charCodeAt(wanted);
  return unit >= 0xdc00 && unit <= 0xdfff ? wanted + 1 : wanted;
}
