/** The report on a manifest, as the table `assets` stores it. The module `content-credentials` writes it. */

/** Validation states of a manifest with their descriptions. */
export const manifestStates = {
  TRUSTED: 'The manifest is intact, and the signer is on the operator’s trust list.',
  VALID: 'The manifest is intact. The signer is on no trust list, so the name of the signer proves nothing.',
  INVALID: 'The manifest does not match the file, or its signature is wrong.',
  UNREADABLE: 'The file has a manifest that cannot be read.',
  REMOTE: 'The file has no manifest but contains the URL of a remote manifest. Annal does not fetch remote manifests.',
} as const

export type ManifestState = keyof typeof manifestStates

/** Summary of a manifest, which is stored with the asset. */
export interface ManifestReport {
  state: ManifestState
  /** Description of the trust list that the signer was checked against. Null if none is configured. */
  trustList: string | null
  generator: string | null
  title: string | null
  signer: string | null
  issuer: string | null
  signedAt: string | null
  actions: string[]
  creators: string[]
  digitalSourceType: string | null
  /** Permissions for data mining, as entries in the format `name: use`. */
  mining: string[]
  problems: string[]
  /** Parts that Annal cannot check without network access and a list of identity issuers. Missing in old reports. */
  notChecked?: string[]
  /** URL of the remote manifest. Set only if the state is REMOTE. */
  remoteManifestUrl?: string | null
  /** Number of manifests in the file, including those of its ingredients. */
  manifestCount: number
  checkedAt: string
}

/** Maximum length of a text and of a URL, in characters, and maximum number of list items. */
export const reportBounds = { text: 255, url: 2_000, items: 20 } as const
