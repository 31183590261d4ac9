import { arrayOf, boolean, bytes, orNull, statement, text, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { auditSql } from '../audit/audit-sql.ts'

/**
 * Changes what is not null, sets pictures (ids, kinds, pictures and thumbnails in step), and takes pictures of kinds away. No row:
 * the account is gone.
 */
export const changeProfile = statement(
  'account_profile_change',
  {
    parameters: {
      user: uuid,
      displayName: orNull(text),
      description: orNull(text),
      language: orNull(text),
      defaultTag: orNull(text),
      allowC2paDownload: orNull(boolean),
      ids: arrayOf(uuid),
      kinds: arrayOf(text),
      pictures: arrayOf(bytes),
      thumbnails: arrayOf(bytes),
      removedKinds: arrayOf(text),
      address: text,
      ...remembered,
    },
    columns: { id: uuid },
  },
  `with updated_user as (
     update users set display_name = coalesce($displayName, display_name), description = coalesce($description, description),
       language = coalesce($language, language), default_tag = coalesce($defaultTag, default_tag),
       allow_c2pa_download = coalesce($allowC2paDownload, allow_c2pa_download)
     where id = $user and deleted_at is null returning id
   ),
   upserted_pictures as (
     insert into pictures (id, user_id, kind, picture, thumbnail)
     select item.id, updated_user.id, item.kind::picture_kind, item.picture, item.thumbnail
     from updated_user, unnest($ids, $kinds, $pictures, $thumbnails) as item (id, kind, picture, thumbnail)
     on conflict (user_id, kind) do update
       set id = excluded.id, picture = excluded.picture, thumbnail = excluded.thumbnail, created_at = now()
   ),
   deleted_pictures as (
     delete from pictures using updated_user where user_id = updated_user.id and kind::text = any ($removedKinds)
   ),
   ${auditSql({ from: 'updated_user', user: 'id', action: 'profile.changed', address: '$address' })},
   ${rememberSql('updated_user.id::text', 'updated_user')}
   select id from updated_user`,
)

/** A picture, whoever it is of: they are for everybody to see. Or its thumbnail. */
export const findPicture = statement(
  'picture_find',
  { parameters: { picture: uuid, wantsThumbnail: boolean }, columns: { bytes } },
  'select case when $wantsThumbnail then thumbnail else picture end as bytes from pictures where id = $picture',
)
