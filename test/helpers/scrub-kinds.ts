import { argumentLists } from './scrub-kinds/argument-lists.ts';
import { behindExceptions } from './scrub-kinds/behind-exceptions.ts';
import { decoratedLines } from './scrub-kinds/decorated-lines.ts';
import { edges } from './scrub-kinds/edges.ts';
import { lookAlikeNames } from './scrub-kinds/look-alike-names.ts';
import { missed } from './scrub-kinds/missed.ts';
import { namesOfSecrets } from './scrub-kinds/names-of-secrets.ts';
import { otherCode } from './scrub-kinds/other-code.ts';
import { otherPairs } from './scrub-kinds/other-pairs.ts';
import { paths } from './scrub-kinds/paths.ts';
import { places } from './scrub-kinds/places.ts';
import { publicMaterial } from './scrub-kinds/public-material.ts';
import { publicRepositories } from './scrub-kinds/public-repositories.ts';
import { publicValues } from './scrub-kinds/public-values.ts';
import type { Kind } from './scrub-kinds/sessions.ts';
import { spread } from './scrub-kinds/spread.ts';
import { heldOutSyntaxes } from './scrub-kinds/syntaxes.ts';
import { told } from './scrub-kinds/told.ts';

export { type Kind, withoutMarks } from './scrub-kinds/sessions.ts';

/** Kinds of mistakes of a scrubber. The labels were set before the rules that they judge. */
export const KINDS: readonly Kind[] = [
  spread,
  publicMaterial,
  edges,
  lookAlikeNames,
  paths,
  missed,
  publicRepositories,
  behindExceptions,
  decoratedLines,
  namesOfSecrets,
  publicValues,
  argumentLists,
  told,
  otherPairs,
  places,
  otherCode,
  heldOutSyntaxes,
];
