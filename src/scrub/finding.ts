/** A place that must not leave: UTF-16 offsets of the secret in the scanned text. */
export interface Finding {
  rule: string;
  start: number;
  end: number;
  /** The known value that is there in another form or in part. Default: the text itself is the value. */
  of?: string | undefined;
  /** The secrets that are encoded there, if nothing else was found there. Default: the text itself is the secret. */
  inner?: readonly string[] | undefined;
}
