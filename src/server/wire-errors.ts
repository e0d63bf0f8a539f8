import { Metadata, type StatusObject } from '@grpc/grpc-js';
import type { ContextdError } from '../core/errors.ts';
import { GRPC_STATUS } from '../protocol/rpc-faults.ts';
import { CODE_TRAILER, REMEDY_TRAILER } from '../protocol/trailers.ts';

/** Trailers travel as headers, which peers bound, some to 16 KiB: characters of one text. */
const TEXT_MAX_CHARS = 1_000;

/** `mask` takes secrets out: an error's text may hold what a caller or a file held. */
export function toStatus(error: ContextdError, mask: (text: string) => string): Partial<StatusObject> {
  const metadata = new Metadata();
  metadata.set(CODE_TRAILER, error.code);
  if (error.remedy !== undefined) metadata.set(REMEDY_TRAILER, Buffer.from(presentable(error.remedy, mask)));
  return { code: GRPC_STATUS[error.code], details: presentable(error.message, mask), metadata };
}

/** Masked before it is cut, so that no half of a secret is left; without lone surrogates, since it is percent-encoded. */
function presentable(text: string, mask: (text: string) => string): string {
  try {
    return Buffer.from(mask(text).slice(0, TEXT_MAX_CHARS)).toString();
  } catch {
    return 'the text of this error is withheld, since it could not be searched for secrets';
  }
}
