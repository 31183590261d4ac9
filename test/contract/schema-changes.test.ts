import { describe, expect, it } from 'vitest'
import { schema } from '../support/full-api.ts'
import { keptReleases, toldReleases, undatedDeprecations, untoldSinceLastRelease } from './schema-changes.ts'

describe('the schema', () => {
  it('has no undeclared breaking change since the last release', async () => {
    expect((await untoldSinceLastRelease()).untold).toEqual([])
  })

  it('has a removal date for every deprecation', () => {
    expect(undatedDeprecations(schema)).toEqual([])
  })

  it('of each release is stored', () => {
    expect(toldReleases().filter((version) => !keptReleases().includes(version))).toEqual([])
  })
})
