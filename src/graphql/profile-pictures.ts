/** Where the pictures on somebody's profile are. */
import type { Picture } from '../platform/prisma/client.ts'
import { builder } from './builder.ts'
import { urlSize } from './sizes.ts'
import { UserType } from './user.ts'

type Kind = Picture['kind']

const urlOf = (baseUrl: string, pictures: Pick<Picture, 'id' | 'kind'>[], wanted: Kind) => {
  const picture = pictures.find(({ kind }) => kind === wanted)
  return picture ? `${baseUrl}/pictures/${picture.id}` : null
}

const thumbnailOf = (url: string | null) => url && `${url}/thumbnail`

builder.prismaObjectFields(UserType, (t) => {
  const url = (kind: Kind, description: string, present: (url: string | null) => string | null = (found) => found) =>
    t.string({
      nullable: true,
      ...urlSize,
      description: `${description}, as WebP for everybody to see; null when there is none.`,
      select: { pictures: { select: { id: true, kind: true } } },
      resolve: ({ pictures }, _args, { baseUrl }) => present(urlOf(baseUrl, pictures, kind)),
    })
  return {
    profilePictureUrl: url('PROFILE', 'Where their picture is'),
    profilePictureThumbnailUrl: url('PROFILE', 'Where a small one of their picture is', thumbnailOf),
    profileBackgroundUrl: url('BACKGROUND', 'Where the picture behind their profile is'),
    profileBackgroundThumbnailUrl: url(
      'BACKGROUND',
      'Where a small one of the picture behind their profile is',
      thumbnailOf,
    ),
  }
})
