import { ContextdError } from '../core/errors.ts';
import { UNREAD_MAX_BYTES } from '../core/limits.ts';

/** The end of a request whose client does not read what comes before the answer. */
export function leftUnread(): ContextdError {
  return new ContextdError('RESOURCE_LIMIT', `the client left more than ${UNREAD_MAX_BYTES} bytes unread`, {
    remedy: 'The request was cancelled. See what it did before you send it again, and read while it runs.',
    details: { limit: UNREAD_MAX_BYTES },
  });
}
