/** Vectors as a model answered them. */
export interface Embedded {
  readonly model: string;
  /** Vectors of two revisions of a model are never compared. */
  readonly revision: string;
  /** Of length 1 and one dimension, in the order of the texts. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
}

/** Whether a text is searched for or searched in: some models want to know. */
export type Purpose = 'query' | 'document';

/** A model that turns texts into vectors. */
export interface Embedder {
  /** Where it is, for a person. */
  readonly name: string;
  /**
   * Embeds masked texts. Throws UPSTREAM_ERROR if the model does not take these texts, and UPSTREAM_UNAVAILABLE or
   * NOT_FOUND, which say why, if it cannot be used.
   */
  embed(texts: readonly string[], purpose: Purpose, signal: AbortSignal): Promise<Embedded>;
  /** Ends what it started. */
  stop(): Promise<void>;
}

/** What identifies vectors that may be compared. */
export interface Identity {
  readonly model: string;
  readonly revision: string;
  readonly dimension: number;
}

/** The name by which vectors of several machines are compared. */
export function modelName({ model, revision }: Pick<Identity, 'model' | 'revision'>): string {
  return revision === '' ? model : `${model} ${revision}`;
}

/** A vector and the name of its model. */
export interface NamedVector {
  readonly model: string;
  readonly values: number[];
}

export function identityOf({ model, revision, vectors }: Embedded): Identity {
  return { model, revision, dimension: vectors[0]?.length ?? 0 };
}

/** Numbers of a vector. */
const DIMENSION_MAX = 65_536;

/**
 * Checks an answer and scales its vectors to length 1. Returns what is wrong with it as a sentence without a subject.
 */
export function unitVectors(answer: readonly unknown[], texts: number): Float32Array<ArrayBuffer>[] | string {
  if (answer.length !== texts) return `answered ${answer.length} vectors for ${texts} texts`;
  const vectors: Float32Array<ArrayBuffer>[] = [];
  for (const values of answer) {
    if (!isNumbers(values)) return 'answered a vector that is no list of numbers';
    const dimension = vectors[0]?.length ?? values.length;
    if (values.length === 0 || values.length > DIMENSION_MAX) return `answered a vector of ${values.length} numbers`;
    if (values.length !== dimension) return `answered vectors of ${dimension} and of ${values.length} numbers`;
    const length = Math.hypot(...values);
    if (!Number.isFinite(length) || length === 0) return 'answered a vector without a direction';
    vectors.push(Float32Array.from(values, (value) => value / length));
  }
  return vectors;
}

function isNumbers(values: unknown): values is number[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'number' && Number.isFinite(value));
}
