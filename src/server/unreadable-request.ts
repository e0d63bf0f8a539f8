import { ContextdError } from '../core/errors.ts';
import type { ExecuteRequest__Output } from '../protocol/generated/contextd/v1/ExecuteRequest.ts';

/** Stands for a message that is no ExecuteRequest: a call all the same, so it is answered and recorded as one. */
const UNREADABLE: ExecuteRequest__Output = { tool: '', input_json: Buffer.alloc(0), context: null };

interface Decoding {
  requestDeserialize(bytes: Buffer): ExecuteRequest__Output;
}

/** The method with a decoder that does not throw. gRPC itself would answer with an error that nobody records. */
export function withAnyRequest<Method extends Decoding>(method: Method): Method {
  return {
    ...method,
    requestDeserialize(bytes: Buffer): ExecuteRequest__Output {
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return UNREADABLE;
      }
    },
  };
}

/** Undefined for a message that could be read. */
export function unreadableFault(wire: ExecuteRequest__Output): ContextdError | undefined {
  if (wire !== UNREADABLE) return undefined;
  return new ContextdError('ARGS_INVALID', 'the message of the call is not an ExecuteRequest', {
    remedy: 'Encode it as proto/contextd/v1/tool.proto says.',
  });
}
