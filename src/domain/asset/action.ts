/** What a commit did, in the words of the public layout. */
import type { ContentStore } from '../ports/files.ts'

/** What a commit does, by the name that stands on the chain. */
export type ActionName = 'action-initial-registration' | 'action-commit'

/** What a commit does by its place in the history: the first one registers, all others change. */
export const actionNameOf = (sequence: number): ActionName =>
  sequence === 1 ? 'action-initial-registration' : 'action-commit'

/** The documents that describe the actions. A commit names one by its CID, so their bytes never change. */
export const actionDocuments: Record<ActionName, string> = {
  'action-initial-registration': JSON.stringify(
    { name: 'action-initial-registration', description: 'A file was registered, and its first asset tree written.' },
    null,
    2,
  ),
  'action-commit': JSON.stringify(
    { name: 'action-commit', description: "A registered asset's metadata was changed, and a new asset tree written." },
    null,
    2,
  ),
}

/** What came of it: where the asset can be read. */
export const actionResultOf = (publicUrl: string, nid: string) => `${publicUrl}/api/v3/assets/${nid}/`

/** The nid of each action's document. */
export const actionNids = ({ identify }: Pick<ContentStore, 'identify'>): Record<ActionName, string> => ({
  'action-initial-registration': identify(Buffer.from(actionDocuments['action-initial-registration'])).cid,
  'action-commit': identify(Buffer.from(actionDocuments['action-commit'])).cid,
})
