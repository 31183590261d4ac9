import { describe, expect, it } from 'vitest'
import { schema } from '../support/full-api.ts'
import { keptReleases, toldReleases, undatedDeprecations, untoldSinceLastRelease } from './schema-changes.ts'

describe('GraphQL schema', () => {
  it('the GraphQL schema has no undeclared breaking change since the last release', async () => {
    expect((await untoldSinceLastRelease()).untold).toEqual([])
  })

  it('every deprecation in the GraphQL schema has a removal date', () => {
    expect(undatedDeprecations(schema)).toEqual([])
  })

  it('the GraphQL schema of each release is stored', () => {
    expect(toldReleases().filter((version) => !keptReleases().includes(version))).toEqual([])
  })
})
