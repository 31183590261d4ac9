/** Assets that are shown as they were: what they said comes from their history, the rest is as it is. */
import type { Metadata } from '../domain/asset/metadata.ts'
import type { AssetVersion } from '../domain/asset/version-service.ts'

const versions = new WeakMap<object, AssetVersion>()

/** The asset, shown as this version. It is a copy: one that was read for several requests at once stays as it is for the others. */
export function showAs<Shown extends object>(asset: Shown, version: AssetVersion): Shown {
  const shown = { ...asset }
  versions.set(shown, version)
  return shown
}

/** The version that an asset is shown as, if it is not the newest. */
export const shownVersion = (asset: object): AssetVersion | undefined => versions.get(asset)

/** What it says as it is shown. */
export const saidBy = <Name extends keyof Metadata>(
  asset: Pick<Metadata, Exclude<Name, 'custom'>>,
  name: Name,
): Metadata[Name] => (versions.get(asset)?.metadata ?? (asset as Metadata))[name]
