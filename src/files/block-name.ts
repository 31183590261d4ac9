/** How blocks are named where they lie: by `blockstore-fs` on a disk and by `blockstore-s3` in a bucket, which agree. */
import { NextToLast } from 'blockstore-fs/sharding'
import type { CID } from 'multiformats/cid'

const sharding = new NextToLast()

/** What names of blocks end with. */
export const blockExtension: string = sharding.extension

/** The name of a block: its multihash in base32, which CIDs of every version and codec share. */
export const blockName = (cid: CID): string => sharding.encode(cid).file

/** Where it lies, in the folder of its last two letters: `AQ/BCIQ…AQ.data`. */
export const blockPlace = (cid: CID): { dir: string; file: string } => sharding.encode(cid)
