// Original file: proto/contextd/v1/management.proto

import type { QuarantinedItem as _contextd_v1_QuarantinedItem, QuarantinedItem__Output as _contextd_v1_QuarantinedItem__Output } from '../../contextd/v1/QuarantinedItem.ts';
import type { AcceptedContent as _contextd_v1_AcceptedContent, AcceptedContent__Output as _contextd_v1_AcceptedContent__Output } from '../../contextd/v1/AcceptedContent.ts';

/**
 * The listed or changed items and acceptances.
 */
export interface QuarantineResponse {
  'items'?: (_contextd_v1_QuarantinedItem)[];
  'accepted'?: (_contextd_v1_AcceptedContent)[];
}

/**
 * The listed or changed items and acceptances.
 */
export interface QuarantineResponse__Output {
  'items': (_contextd_v1_QuarantinedItem__Output)[];
  'accepted': (_contextd_v1_AcceptedContent__Output)[];
}
