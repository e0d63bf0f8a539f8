import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { ServiceAnswer } from '../runner/host-methods.ts';
import type { ArtifactStore } from '../stores/artifacts.ts';

/**
 * ArtifactView of ToolHost: `{"ref": "art_…"}` or `{"ref": "art_…/stderr"}`. The call then shows that output by its
 * view; the answer says which tool it is of and its size. Errors: ARGS_INVALID, NOT_FOUND, EXPIRED.
 */
export function createArtifactView(artifacts: ArtifactStore) {
  return async (sessionKey: string, { ref }: JsonObject): Promise<ServiceAnswer> => {
    if (typeof ref !== 'string') throw new ContextdError('ARGS_INVALID', '/ref must be an art_ id');
    const [id = '', field] = ref.split('/');
    const { tool, bytes, parts } = await artifacts.info(sessionKey, id);
    if (field !== undefined && !parts.some((part) => part.field === field)) {
      throw new ContextdError('NOT_FOUND', `${id} has no text ${field.slice(0, 40)}`, {
        remedy: `It has ${parts.map((part) => part.field).join(', ')}.`,
      });
    }
    return { answer: { tool, bytes }, shows: ref };
  };
}
