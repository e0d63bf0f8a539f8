export { INPUT_MAX_BYTES, MESSAGE_MAX_BYTES } from '../core/limits.ts';
