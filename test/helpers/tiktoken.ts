import { getEncoding, type Tiktoken } from 'js-tiktoken';

/** js-tiktoken's tables, built once for all files of a worker: it takes half a second of a processor. */
export const cl100k: Tiktoken = getEncoding('cl100k_base');
