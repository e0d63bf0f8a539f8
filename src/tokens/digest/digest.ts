import { hash } from 'node:crypto';
import { choose } from './choose.ts';
import { CodePoints } from './code-points.ts';
import { type Draft, fill } from './fill.ts';
import { piecesOf } from './pieces.ts';
import { STOP_WORDS, termsOf } from './terms.ts';

/** Limit of the summary in a DigestPayload v1, characters (code points). */
const SUMMARY_MAX_CHARS = 2_000;

/** Spec 4, DigestPayload v1.0; docs/digest.schema.json says what each field is. */
export interface DigestPayload {
  readonly version: '1.0';
  readonly content_type: 'digest/v1';
  readonly query_hash: string;
  readonly summary: string;
  readonly key_points: readonly string[];
  readonly evidence_snippets: readonly EvidenceSnippet[];
  readonly original_chars: number;
  readonly digest_chars: number;
  readonly compression_ratio: number;
  readonly source_text_hash: string;
}

export interface EvidenceSnippet {
  readonly text: string;
  readonly locator: string;
  readonly relevance_score: number;
}

/** What all drafts of one payload have in common. */
interface Source {
  text: string;
  points: CodePoints;
  queryHash: string;
  textHash: string;
}

/**
 * An extract of a text for a query ('' for none): its own lines, found by BM25, never reworded; the same for the same
 * input. Serialized it has at most `size.chars` UTF-16 units, or empty lists when even these do not fit.
 */
export function digest(text: string, query: string, size: { chars: number }): DigestPayload {
  const asked = query.normalize('NFKC').replace(/\s+/gu, ' ').trim();
  const terms = queryTerms(asked);
  const pieces = piecesOf(text, terms);
  const source: Source = {
    text,
    points: new CodePoints(text),
    queryHash: hash('sha256', asked.toLowerCase()).slice(0, 8),
    textHash: hash('sha256', text),
  };
  const choice = choose(text, pieces, terms);
  const fits = (draft: Draft) =>
    draft.summary.reduce((sum, { start, end }) => sum + end - start + 1, -1) <= SUMMARY_MAX_CHARS &&
    serializeDigest(payloadOf(source, draft)).length <= size.chars;
  return payloadOf(source, fill(text, { pieces, choice, terms }, fits));
}

/** The terms of a query as it was written: its capitals part names such as fetchUser. */
function queryTerms(query: string): string[] {
  const terms = [...new Set(termsOf(query))];
  const telling = terms.filter((term) => !STOP_WORDS.has(term));
  return telling.length > 0 ? telling : terms;
}

/** JSON with the keys in the order of the specification. The ratio always has 6 decimals. */
export function serializeDigest(payload: DigestPayload): string {
  const { compression_ratio, source_text_hash, ...first } = payload;
  const ratio = compression_ratio.toFixed(6);
  return `${JSON.stringify(first).slice(0, -1)},"compression_ratio":${ratio},"source_text_hash":"${source_text_hash}"}`;
}

function payloadOf({ text, points, queryHash, textHash }: Source, draft: Draft): DigestPayload {
  const shown = ({ start, end }: { start: number; end: number }) => text.slice(start, end);
  const payload: DigestPayload = {
    version: '1.0',
    content_type: 'digest/v1',
    query_hash: queryHash,
    summary: draft.summary.map(shown).join('\n'),
    key_points: draft.keyPoints.map(shown),
    evidence_snippets: draft.evidence.map((snippet) => ({
      text: shown(snippet),
      locator: `char:${points.at(snippet.start)}-${points.at(snippet.end)}`,
      relevance_score: Math.round(snippet.relevance * 100) / 100,
    })),
    original_chars: points.total,
    digest_chars: 0,
    compression_ratio: 0,
    source_text_hash: `sha256:${textHash}`,
  };
  const digestChars = withOwnDigits(new CodePoints(serializeDigest(payload)).total - 1);
  const ratio = points.total === 0 ? 1 : Math.min(1, digestChars / points.total);
  return { ...payload, digest_chars: digestChars, compression_ratio: Number(ratio.toFixed(6)) };
}

/** The length of a text that states its own length, from its length without that number. */
function withOwnDigits(length: number): number {
  let digits = 1;
  while (String(length + digits).length > digits) digits++;
  return length + digits;
}
