import { describe, expect, it } from 'vitest'
import { schema } from '../../src/graphql/schema.ts'
import { keptReleases, toldReleases, undatedDeprecations, untoldSinceLastRelease } from './schema-changes.ts'

describe('the schema', () => {
  it('breaks nothing of the last release without telling', async () => {
    expect((await untoldSinceLastRelease()).untold).toEqual([])
  })

  it('gives a date to everything that is deprecated', () => {
    expect(undatedDeprecations(schema)).toEqual([])
  })

  it('of each version that was released is kept', () => {
    expect(toldReleases().filter((version) => !keptReleases().includes(version))).toEqual([])
  })
})
