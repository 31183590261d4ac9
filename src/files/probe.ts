/**
 * The empty file, whose identifier holds all there is of it. Clients ask for it to find out whether there is a gateway
 * (https://specs.ipfs.tech/http-gateways/trustless-gateway/#dedicated-probe-paths). It lies in no store.
 */
import { CID } from 'multiformats/cid'
import { carOf } from './car.ts'
import type { ContentStore } from './file-types.ts'

/** Its identifier. */
export const PROBE_CID = 'bafkqaaa'

const empty = new Uint8Array()

/** Reads it as the content store reads files. */
export const probe: Pick<ContentStore, 'read' | 'size' | 'readBlock' | 'exportCar'> = {
  async *read() {},
  size: async () => 0,
  readBlock: async () => empty,
  exportCar: () => carOf(CID.parse(PROBE_CID), async () => empty),
}
