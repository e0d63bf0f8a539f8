// Original file: proto/contextd/v1/management.proto

import type { PendingLesson as _contextd_v1_PendingLesson, PendingLesson__Output as _contextd_v1_PendingLesson__Output } from '../../contextd/v1/PendingLesson.ts';

export interface PendingLessons {
  'lessons'?: (_contextd_v1_PendingLesson)[];
}

export interface PendingLessons__Output {
  'lessons': (_contextd_v1_PendingLesson__Output)[];
}
