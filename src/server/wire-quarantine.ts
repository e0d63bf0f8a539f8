import type { QuarantinedItem } from '../protocol/generated/contextd/v1/QuarantinedItem.ts';
import type { QuarantineResponse } from '../protocol/generated/contextd/v1/QuarantineResponse.ts';
import type { QuarantinedInfo, QuarantineInfo } from './door.ts';

/** What was set aside and accepted, as messages of management.proto, field by field. */
export function toQuarantine({ items, accepted }: QuarantineInfo): Required<QuarantineResponse> {
  return {
    items: items.map(toItem),
    accepted: accepted.map(({ path, sha256, at }) => ({ path, sha256, accepted_ms: at })),
  };
}

function toItem({ id, path, moved, reason, at, kind, ...content }: QuarantinedInfo): QuarantinedItem {
  return {
    ...{ id, path, moved, reason, kind },
    set_aside_ms: at,
    ...(content.sizeBytes === null ? {} : { size_bytes: content.sizeBytes }),
    sha256: content.sha256 ?? '',
    no_hash_because: content.noHashBecause ?? '',
    preview: content.preview ?? '',
  };
}
