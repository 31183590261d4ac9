/** The schema: importing a type's file adds it. */
import './scalars.ts'
import './node.ts'
import './user.ts'
import './wallet.ts'
import './commit.ts'
import './asset.ts'
import './session.ts'
import { builder } from './builder.ts'

export const schema = builder.toSchema({ sortSchema: true })
