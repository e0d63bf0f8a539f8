import { createContext, Script } from 'node:vm';
import type { Json } from '../core/json.ts';

const CALL = new Script('work()');
const PLACE: { work: (() => unknown) | null } = { work: null };
const CONTEXT = createContext(PLACE);

/**
 * Runs code of ours on data of others, which may make it take for ever. After `ms` it is ended wherever it is, and `tooLong`
 * decides. The thread waits that long at most. It is no sandbox.
 */
export function withDeadline<T>(ms: number, work: () => T, tooLong: () => never): T {
  let result: { value: T } | null = null;
  PLACE.work = () => {
    result = { value: work() };
  };
  try {
    CALL.runInContext(CONTEXT, { timeout: ms });
  } catch (thrown) {
    // The error belongs to the context, so it is no instance of our Error.
    if (Object(thrown).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') tooLong();
    throw thrown;
  } finally {
    PLACE.work = null;
  }
  return unpack(result);
}

function unpack<T>(result: { value: T } | null): T {
  if (result === null) throw new Error('the work has not run');
  return result.value;
}

const SMALL_VALUES = 100;
const SMALL_CHARS = 2_000;

/** True for data on which any schema within the limits is checked within milliseconds, so that no deadline is needed. */
export function isSmall(data: Json): boolean {
  let [values, chars] = [0, 0];
  const left: Json[] = [data];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    values += 1;
    if (typeof one === 'string') chars += one.length;
    else if (typeof one === 'object' && one !== null) {
      if (Array.isArray(one) && one.length > SMALL_VALUES) return false;
      for (const [key, inner] of Object.entries(one)) {
        chars += key.length;
        left.push(inner);
      }
    }
    if (values + left.length > SMALL_VALUES || chars > SMALL_CHARS) return false;
  }
  return true;
}
