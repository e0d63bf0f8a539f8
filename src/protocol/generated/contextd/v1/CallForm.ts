// Original file: proto/contextd/v1/tool.proto

export const CallForm = {
  /**
   * One line of JSON, the envelope.
   */
  CALL_FORM_JSON: 0,
  /**
   * The output as text.
   */
  CALL_FORM_TEXT: 1,
} as const;

export type CallForm =
  /**
   * One line of JSON, the envelope.
   */
  | 'CALL_FORM_JSON'
  | 0
  /**
   * The output as text.
   */
  | 'CALL_FORM_TEXT'
  | 1

export type CallForm__Output = typeof CallForm[keyof typeof CallForm]
