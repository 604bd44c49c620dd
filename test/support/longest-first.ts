import { hash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { secondsOf } from './durations.ts';

/**
 * Long files first, because one that is begun last would run alone at the end; the others in random order. The files of a
 * project follow each other, so that they share processes.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const shuffled = ({ moduleId }: TestSpecification) => hash('sha1', `${seed} ${moduleId}`);
    return files.toSorted(
      (a, b) =>
        a.project.name.localeCompare(b.project.name) ||
        secondsOf(b.moduleId) - secondsOf(a.moduleId) ||
        shuffled(a).localeCompare(shuffled(b)),
    );
  }
}
