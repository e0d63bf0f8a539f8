/** A place that must not leave: UTF-16 offsets of the secret in the text that was scanned. */
export interface Finding {
  rule: string;
  start: number;
  end: number;
  /** The known value that stands there in another form, or a piece of it. Default: the text there is the value. */
  of?: string | undefined;
}
