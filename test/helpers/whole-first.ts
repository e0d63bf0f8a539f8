import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The longest first, those with real clients, and unit tests last, which are short: at the end of a run no processor waits for a
 * long file. Without what an earlier run has left, vitest knows only the sizes of files.
 */
export default class WholeFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification): number =>
      project.name === 'unit' ? 2 : moduleId.includes('/test/clients/') ? 0 : 1;
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
