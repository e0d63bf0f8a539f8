import type { WireError } from '../../../core/wire-error.ts';
import type { ViewedOutput } from '../../../tokens/views/render-view.ts';

/** The one message that a view's thread sends. */
export type ViewReply = { output: ViewedOutput } | { error: WireError };
