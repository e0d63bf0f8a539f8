import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { readSpan } from '../../src/sdk/file-bytes.ts';
import { invalid } from '../../src/sdk/input.ts';
import {
  type Charset,
  decodeBytes,
  describeCharacter,
  detectCharset,
  encodeFile,
  encodeText,
  UnencodableCharacter,
  UTF8,
  withBomOf,
} from '../../src/sdk/text-encoding.ts';
import { type ContextdError, isErrno, type JsonObject } from '../../src/sdk/tool.ts';
import { quoteName } from '../../src/sdk/workspace-path.ts';
import { isCrlfThroughout, toCrlf } from './lines.ts';

/** The part of a file by which its encoding and line ends are recognized. */
const SAMPLE_BYTES = 16 * 1024 * 1024;
/** The longest newline, in UTF-16. */
const NEWLINE_BYTES = 2;

/** How an existing text is written. */
interface TextStyle {
  charset: Charset;
  isCrlf: boolean;
  endsWithNewline: boolean;
}

/** What is written, and what was kept of the old file. */
export interface StyledContent {
  bytes: Buffer;
  facts: JsonObject;
}

export interface StyleRequest {
  /** Absolute, links followed. */
  target: string;
  /** The name of the file in messages. */
  shown: string;
  content: string;
  mode: 'create' | 'overwrite' | 'append';
  /** The encoding that the caller names; null: that of the existing file. */
  charset: Charset | null;
  signal: AbortSignal;
}

/**
 * The bytes of a content in the style of the file that exists: its encoding, CRLF if all its lines have it, and, if the
 * content replaces it, its final newline or none. A content for which the caller names the encoding is written as it is,
 * unless it is appended.
 */
export async function styleContent(request: StyleRequest): Promise<StyledContent> {
  const { mode, charset: given, shown, content } = request;
  const isExact = mode === 'create' || (mode === 'overwrite' && given !== null);
  const style = isExact ? null : await styleOf(request);
  if (style === null) {
    const charset = given ?? UTF8;
    return { bytes: encode(content, { charset, shown, name: 'content' }), facts: encodingFact(charset) };
  }
  const { charset } = style;
  const lines = style.isCrlf && !content.includes('\r') ? toCrlf(content) : content;
  const text = mode === 'append' ? lines : withFinalNewline(lines, style);
  const facts = {
    ...encodingFact(charset),
    ...(lines === content ? {} : { newline: 'crlf' }),
    ...(text === lines ? {} : { final_newline: text.length > lines.length ? 'added' : 'removed' }),
  };
  return { bytes: encode(text, { charset, shown, name: 'content' }, mode === 'append'), facts };
}

/** Adds or removes one newline at the end. An empty text stays empty. */
function withFinalNewline(text: string, { isCrlf, endsWithNewline }: TextStyle): string {
  if (text === '' || text.endsWith('\n') === endsWithNewline) return text;
  return endsWithNewline ? `${text}${isCrlf ? '\r\n' : '\n'}` : text.replace(/\r?\n$/, '');
}

/** Null if there is no file, or if it is empty or no text. */
async function styleOf({ target, charset: given, signal }: StyleRequest): Promise<TextStyle | null> {
  const sample = await readSample(target, signal);
  if (sample === null || sample.start.length === 0) return null;
  const charset = given === null ? detectCharset(sample.start) : withBomOf(given, sample.start);
  if (charset === null) return null;
  const text = Buffer.from(decodeBytes(sample.start, charset, true));
  const end = decodeBytes(sample.end.subarray(-charset.unitBytes), charset);
  return { charset, isCrlf: isCrlfThroughout(text), endsWithNewline: end === '\n' };
}

/** The first 16 MiB and the last bytes of a file; null if there is no regular file. */
async function readSample(target: string, signal: AbortSignal): Promise<{ start: Buffer; end: Buffer } | null> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(target, flags).catch((thrown: unknown) => {
    // Whatever is wrong with the file is reported when it is replaced.
    if (isErrno(thrown)) return null;
    throw thrown;
  });
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    const chunks: Buffer[] = [];
    for await (const chunk of readSpan(file, { start: 0, end: SAMPLE_BYTES }, signal)) chunks.push(Buffer.from(chunk));
    const end = Buffer.alloc(Math.min(NEWLINE_BYTES, stats.size));
    await file.read(end, 0, end.length, stats.size - end.length);
    return { start: Buffer.concat(chunks), end };
  } finally {
    await file.close();
  }
}

/** `name`: the argument that the text comes from, for the message. */
interface Target {
  charset: Charset;
  shown: string;
  name: string;
}

/** Encodes a whole text, or one that is appended. Throws ARGS_INVALID for a character that the encoding does not have. */
export function encode(text: string, { charset, shown, name }: Target, isAppended = false): Buffer {
  try {
    return isAppended ? encodeText(text, charset) : encodeFile(text, charset);
  } catch (thrown) {
    if (thrown instanceof UnencodableCharacter) throw unencodable(thrown, { charset, shown, name });
    throw thrown;
  }
}

function unencodable({ character }: UnencodableCharacter, { charset, shown, name }: Target): ContextdError {
  return invalid(
    name,
    `has ${describeCharacter(character)}, which ${charset.name}, the encoding of ${quoteName(shown)}, does not have`,
    'Write it in another way, or convert the file: overwrite it with "content" and "encoding":"utf-8". Nothing was written.',
  );
}

export function encodingFact({ name }: Charset): JsonObject {
  return name === 'utf-8' ? {} : { encoding: name };
}
