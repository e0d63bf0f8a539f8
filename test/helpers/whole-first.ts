import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Whole tests first: unit tests are short, so that at the end of a run no processor waits for a long file. */
export default class WholeFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project }: TestSpecification): number => (project.name === 'unit' ? 1 : 0);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
