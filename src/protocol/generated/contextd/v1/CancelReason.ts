// Original file: proto/contextd/v1/plugin.proto

export const CancelReason = {
  CANCEL_REASON_UNSPECIFIED: 0,
  CANCEL_REASON_TIMEOUT: 1,
  CANCEL_REASON_CANCELLED: 2,
} as const;

export type CancelReason =
  | 'CANCEL_REASON_UNSPECIFIED'
  | 0
  | 'CANCEL_REASON_TIMEOUT'
  | 1
  | 'CANCEL_REASON_CANCELLED'
  | 2

export type CancelReason__Output = typeof CancelReason[keyof typeof CancelReason]
