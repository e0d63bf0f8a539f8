// Original file: proto/contextd/v1/host.proto

import type { Long } from '@grpc/proto-loader';

/**
 * The part of a text that was not kept, because the text was longer than the limit. A line of contextd stands in its
 * place.
 */
export interface OutputGap {
  /**
   * Where this line begins and ends in the text: UTF-16 offsets, the end with its newline.
   */
  'start'?: (number);
  'end'?: (number);
  /**
   * The number of bytes that are missing.
   */
  'bytes'?: (number | string | Long);
  /**
   * The first and the last line that are missing, wholly or in part, counted from 1 in the whole text.
   */
  'first_line'?: (number | string | Long);
  'last_line'?: (number | string | Long);
  /**
   * The number of the line that the text after the gap begins with, or goes on with.
   */
  'next_line'?: (number | string | Long);
}

/**
 * The part of a text that was not kept, because the text was longer than the limit. A line of contextd stands in its
 * place.
 */
export interface OutputGap__Output {
  /**
   * Where this line begins and ends in the text: UTF-16 offsets, the end with its newline.
   */
  'start': (number);
  'end': (number);
  /**
   * The number of bytes that are missing.
   */
  'bytes': (number);
  /**
   * The first and the last line that are missing, wholly or in part, counted from 1 in the whole text.
   */
  'first_line': (number);
  'last_line': (number);
  /**
   * The number of the line that the text after the gap begins with, or goes on with.
   */
  'next_line': (number);
}
