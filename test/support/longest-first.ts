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
 * The order of files where no run before has told how long each takes: Vitest begins with the largest. What takes long is begun first, because
 * it is waited for alone when it is begun last.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(`/test/${name}`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
