import { describe, expect, it } from 'vitest'
import { reportBounds } from '../../../src/modules/assets/content-credentials.graphql.ts'
import { reportOf, unreadable } from '../../../src/modules/content-credentials/manifest.ts'

const now = new Date('2026-11-22T12:00:00Z')
const manifest = {
  claim_generator_info: [{ name: 'Camera', version: '1.2' }],
  title: 'A bird',
  signature_info: { common_name: 'Ada', issuer: 'Cameras Inc.', time: '2026-11-01T00:00:00+00:00' },
  assertions: [
    { label: 'c2pa.actions.v2', data: { actions: [{ action: 'c2pa.created', digitalSourceType: 'http://cv/a' }] } },
    { label: 'c2pa.training-mining', data: { entries: { 'c2pa.ai_training': { use: 'notAllowed' } } } },
    { label: 'stds.schema-org.CreativeWork', data: { author: [{ name: 'Ada' }] } },
  ],
}
const reported = (validation_state: unknown, trustList: string | null = null, over: object = {}) =>
  reportOf(
    JSON.stringify({ active_manifest: 'a', manifests: { a: { ...manifest, ...over }, b: {} }, validation_state }),
    trustList,
    now,
  )

describe('manifest report', () => {
  it('a manifest report contains the claims in short form', () => {
    expect(reported('Valid')).toEqual({
      state: 'VALID',
      trustList: null,
      generator: 'Camera 1.2',
      title: 'A bird',
      signer: 'Ada',
      issuer: 'Cameras Inc.',
      signedAt: '2026-11-01T00:00:00+00:00',
      actions: ['c2pa.created'],
      creators: ['Ada'],
      digitalSourceType: 'http://cv/a',
      mining: ['c2pa.ai_training: notAllowed'],
      problems: [],
      notChecked: [],
      remoteManifestUrl: null,
      manifestCount: 2,
      checkedAt: now.toISOString(),
    })
  })

  it("a manifest is trusted only with the operator's trust list, and valid only if the library says so", () => {
    expect(reported('Trusted', 'a list').state).toBe('TRUSTED')
    expect(reported('Trusted').state).toBe('VALID')
    for (const state of ['Invalid', 'valid', undefined, 7]) expect(reported(state, 'a list').state).toBe('INVALID')
  })

  it('a manifest is trusted even if the certificate of its identity assertion is on no trust list', () => {
    const success = ['claimSignature.validated', 'claimSignature.insideValidity', 'signingCredential.trusted']
    const resultsOf = (failures: string[], delta: string[] = []) => {
      const statuses = (codes: string[]) => codes.map((code) => ({ code }))
      return {
        activeManifest: { success: statuses(success), informational: [], failure: statuses(failures) },
        ingredientDeltas: [{ validationDeltas: { failure: statuses(delta) } }],
      }
    }
    const stateOf = (failures: string[], delta: string[] = [], validation_state = 'Valid') =>
      reportOf(
        JSON.stringify({
          ...{ active_manifest: 'a', manifests: { a: manifest }, validation_state },
          validation_results: resultsOf(failures, delta),
        }),
        'a list',
        now,
      )
    expect(stateOf(['cawg.x509.credential.untrusted'])).toMatchObject({
      state: 'TRUSTED',
      problems: [],
      notChecked: ['identity not checked'],
    })
    expect(stateOf(['cawg.x509.credential.untrusted'], ['signingCredential.untrusted']).state).toBe('VALID')
    expect(stateOf(['cawg.x509.credential.untrusted'], ['assertion.dataHash.mismatch'], 'Invalid').state).toBe(
      'INVALID',
    )
    expect(stateOf(['cawg.x509.credential.untrusted', 'claim.malformed'], [], 'Invalid').state).toBe('INVALID')
    expect(stateOf(['cawg.x509.credential.untrusted', 'cawg.identity.pad.invalid']).state).toBe('VALID')
  })

  it('limits the size of a manifest report for any input', () => {
    const long = '𝒳'.repeat(100_000)
    const over = {
      title: `\0${long}`,
      claim_generator_info: null,
      claim_generator: long,
      signature_info: [],
      assertions: [
        null,
        { label: 7 },
        {
          label: 'c2pa.actions',
          data: { actions: Array.from({ length: 1_000 }, (_, index) => ({ action: `${index}` })) },
        },
        { label: 'cawg.training-mining', data: { entries: { [long]: null } } },
        { label: 'cawg.metadata', data: { 'dc:creator': [long, {}, '', long] } },
      ],
    }
    const report = reported('Valid', null, over)
    expect(report.title).toHaveLength(reportBounds.text)
    expect(report.title).not.toContain('\0')
    expect(report.actions).toHaveLength(reportBounds.items)
    expect(report.creators).toHaveLength(1)
    expect(JSON.stringify(report).length).toBeLessThan(4_000)
    expect(JSON.stringify(report).isWellFormed()).toBe(true)
    for (const text of ['[]', 'null', '{"active_manifest":"__proto__"}'])
      expect(reportOf(text, null, now)).toMatchObject({ state: 'INVALID', signer: null, manifestCount: 0 })
    expect(unreadable(long, now)).toMatchObject({ state: 'UNREADABLE', problems: [expect.any(String)] })
  })
})
