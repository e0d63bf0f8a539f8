/** The program of the thread that runs a local model. `LocalEmbedder` starts it; nothing imports it. */

import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { Lock } from '../../../../core/lock.ts';
import type { LocalReply, LocalRequest } from './messages.ts';

/** What the thread uses of the package. */
interface Transformers {
  env: { allowRemoteModels: boolean; localModelPath: string };
  pipeline(task: 'feature-extraction', model: string, options: { dtype: string }): Promise<Extractor>;
}

type Extractor = (
  texts: readonly string[],
  options: { pooling: 'mean' | 'cls'; normalize: true },
) => Promise<{ tolist(): unknown[] }>;

interface Model {
  readonly revision: string;
  readonly extract: Extractor;
  readonly pooling: 'mean' | 'cls';
}

// Not written as an import: the package is optional, and neither bundled nor installed with contextd.
const PACKAGE: string = '@huggingface/transformers';

class PackageMissing extends Error {}

async function load(folder: string): Promise<Model> {
  const [name, dtype] = existsSync(join(folder, 'onnx', 'model_quantized.onnx'))
    ? ['model_quantized.onnx', 'q8']
    : ['model.onnx', 'fp32'];
  const revision = await hashOf(join(folder, 'onnx', name));
  const transformers: Transformers = await import(PACKAGE).catch((cause: unknown) => {
    throw new PackageMissing('the package is not installed', { cause });
  });
  transformers.env.allowRemoteModels = false;
  transformers.env.localModelPath = dirname(folder);
  const extract = await transformers.pipeline('feature-extraction', basename(folder), { dtype });
  return { revision, extract, pooling: poolingOf(folder) };
}

/** The file that sentence-transformers writes says how a model sums up its words. */
function poolingOf(folder: string): 'mean' | 'cls' {
  const file = join(folder, '1_Pooling', 'config.json');
  const settings: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const isCls = typeof settings === 'object' && settings !== null && 'pooling_mode_cls_token' in settings;
  return isCls && settings.pooling_mode_cls_token === true ? 'cls' : 'mean';
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex').slice(0, 16);
}

async function answer(
  model: Promise<Model>,
  { id, texts }: LocalRequest,
  afterEach: () => Promise<void>,
): Promise<LocalReply> {
  try {
    const { revision, extract, pooling } = await model;
    const vectors: unknown[] = [];
    for (const text of texts) {
      vectors.push(...(await extract([text], { pooling, normalize: true })).tolist());
      await afterEach();
    }
    return { id, revision, vectors };
  } catch (thrown) {
    const fault = thrown instanceof Error ? thrown.message : String(thrown);
    return { id, fault, isMissing: thrown instanceof PackageMissing };
  }
}

if (parentPort) {
  const port = parentPort;
  const model = load(String(workerData));
  model.catch(() => {});
  const queries: LocalRequest[] = [];
  const answerQueries = async (): Promise<void> => {
    for (let query = queries.shift(); query !== undefined; query = queries.shift())
      port.postMessage(await answer(model, query, async () => {}));
    // Lets messages in that came meanwhile.
    await new Promise(setImmediate);
  };
  // The model uses all processors for one request.
  const lock = new Lock();
  port.on('message', (request: LocalRequest) => {
    if (request.isQuery) queries.push(request);
    void lock.run(async () => {
      if (request.isQuery) return answerQueries();
      port.postMessage(await answer(model, request, answerQueries));
    });
  });
}
