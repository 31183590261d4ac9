import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONG = [
  'api/webhooks/deliveries.test.ts',
  'api/fuzz/fuzz.test.ts',
  'api/pages/asset-page.test.ts',
  'processes/coins.processes.ts',
  'processes/content-credentials.processes.ts',
  'processes/key-rotation.processes.ts',
]

/**
 * Sorts test files without a recorded duration. Vitest starts with the largest files. Long files must start first, or the run
 * waits for them at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(`/test/${name}`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
