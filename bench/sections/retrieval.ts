import { findInstallRoot } from '../../src/config/install-root.ts';
import type { Embedder } from '../../src/features/memory/dense/embedder.ts';
import { HttpEmbedder } from '../../src/features/memory/dense/http-embedder.ts';
import { LocalEmbedder } from '../../src/features/memory/dense/local-embedder.ts';
import type { MemoryAuthor } from '../../src/features/memory/memories.ts';
import { NO_FILTER } from '../../src/features/memory/rows.ts';
import { draftOf, type OpenedMemories, withMemories } from '../lib/open-memories.ts';
import { builtInSet, type RetrievalSet, readSets } from '../lib/retrieval-sets.ts';
import { type Fact, type Section, sayStep } from '../lib/section.ts';

const AUTHOR: MemoryAuthor = { origin: 'import', owner: '', source: 'bench', requestIds: [] };
const BATCH = 500;
const PLACES = [1, 5, 10] as const;

/** What a search finds: by words, and by words and meaning if there is a model, on sets of questions with known answers. */
export const retrievalSection: Section = {
  async run({ embeddingModel, retrievalSets }) {
    const facts: Fact[] = [];
    for (const set of [builtInSet(), ...readSets(retrievalSets)]) {
      sayStep(set.name);
      facts.push({ name: `${set.name}, words`, value: await qualityOf(set, null) });
      const value =
        embeddingModel === null ? 'not measured: no --embedding-model' : await withModel(set, embeddingModel);
      facts.push({ name: `${set.name}, words and meaning`, value });
    }
    return { tables: [], facts };
  },
};

/** `model`: a folder, or the address of an endpoint. */
async function withModel(set: RetrievalSet, model: string): Promise<string> {
  const prefixes = { query: '', document: '' };
  const embedder = /^https?:/.test(model)
    ? new HttpEmbedder({ url: model, model: 'bench', revision: '', prefixes, apiKey: async () => null })
    : new LocalEmbedder({ folder: model, revision: '', prefixes, installRoot: findInstallRoot() });
  return qualityOf(set, embedder);
}

/** Recall at 1, 5 and 10, and the mean reciprocal rank. */
function qualityOf(set: RetrievalSet, embedder: Embedder | null): Promise<string> {
  return withMemories(embedder, async (opened) => {
    const names = await store(set, opened);
    const recall = PLACES.map(() => 0);
    let reciprocal = 0;
    for (const { project, query, relevant } of set.questions) {
      const found = await opened.memories.search(project, { query, limit: PLACES[2], filter: NO_FILTER });
      if (found.wordsOnly !== null) throw new Error(found.wordsOnly);
      const hits = found.memories.map(({ id }) => relevant.includes(names.get(id) ?? ''));
      PLACES.forEach((places, index) => {
        recall[index] = (recall[index] ?? 0) + hits.slice(0, places).filter(Boolean).length / relevant.length;
      });
      const first = hits.indexOf(true);
      reciprocal += first < 0 ? 0 : 1 / (first + 1);
    }
    const mean = (sum: number): string => (sum / set.questions.length).toFixed(3);
    const recalls = PLACES.map((places, index) => `R@${places} ${mean(recall[index] ?? 0)}`);
    return `${recalls.join(', ')}, MRR ${mean(reciprocal)} (${set.questions.length} questions)`;
  });
}

/** Returns the names of the documents by the ids of their memories. */
async function store(set: RetrievalSet, { memories, dense }: OpenedMemories): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const project of new Set(set.documents.map((document) => document.project))) {
    const own = set.documents.filter((document) => document.project === project);
    for (let from = 0; from < own.length; from += BATCH) {
      const batch = own.slice(from, from + BATCH);
      const stored = await memories.storeAll(project, batch.map(draftOf), AUTHOR);
      for (const [index, { id }] of stored.entries()) names.set(id, batch[index]?.id ?? '');
    }
  }
  await dense?.catchUp();
  return names;
}
