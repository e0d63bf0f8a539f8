import { Ajv2020 } from 'ajv/dist/2020.js';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';

/** Throws ARGS_INVALID unless the input fits the schema. The keywords of contextd have no effect here. */
export function checkInput(tool: string, schema: JsonObject, input: object): void {
  const ajv = new Ajv2020({
    meta: false,
    validateSchema: false,
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    keywords: ['x-contextd-primary', 'x-contextd-secret'],
  });
  const validate = ajv.compile(schema);
  if (validate(input)) return;
  const faults = (validate.errors ?? []).map(({ instancePath, message = 'is invalid' }) => ({
    pointer: instancePath || '/',
    fault: message,
  }));
  const sentence = faults.map(({ pointer, fault }) => `${pointer} ${fault}`).join('; ');
  throw new ContextdError('ARGS_INVALID', `the arguments of ${tool} do not fit its schema: ${sentence}`, {
    details: { faults },
  });
}
