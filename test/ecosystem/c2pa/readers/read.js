/** Reads the Content Credentials of files with an implementation of its own; prints a list of what it says of each. */
import { readFileSync } from 'node:fs'
import { BMFF, JPEG, PNG } from '@trustnxt/c2pa-ts/asset'
import { SuperBox } from '@trustnxt/c2pa-ts/jumbf'
import { ManifestStore } from '@trustnxt/c2pa-ts/manifest'

async function read(path) {
  const bytes = new Uint8Array(readFileSync(path))
  for (const Asset of [JPEG, PNG, BMFF]) {
    if (!(await Asset.canRead(bytes))) continue
    const asset = new Asset(bytes)
    const manifests = ManifestStore.read(SuperBox.fromBuffer(await asset.getManifestJUMBF()))
    const { isValid, statusEntries } = await manifests.validate(asset)
    return { isValid, problems: statusEntries.filter(({ success }) => !success).map(({ code }) => code) }
  }
  return { isValid: null }
}

const said = process.argv.slice(2).map((path) => read(path).catch((error) => ({ error: String(error) })))
process.stdout.write(JSON.stringify(await Promise.all(said)))
