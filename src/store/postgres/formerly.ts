/** On PostgreSQL: hands what is in the store under former names of feeds over to their present names (../formerly.ts). */
import { renamedNumber } from '../formerly.ts'
import type { Formerly, LearntNumber } from '../formerly.ts'
import type { Asker } from './door.ts'

/** The former names under which something is left. A feed's row tells, as it is written before anything else of the feed. */
export async function leftOf(asker: Asker, formerly: Formerly): Promise<string[]> {
  if (formerly.size === 0) return []
  const rows = await asker.all<{ name: string }>('SELECT name FROM feed WHERE name = ANY ($1)', [[...formerly.keys()]])
  return rows.map(({ name }) => name)
}

/** Renames everything under former names. If both names have something, the new one's stays. */
export async function handOver(
  asker: Asker,
  formerly: Formerly,
): Promise<{ feed: string; from: string; listings: number }[]> {
  const handed: { feed: string; from: string; listings: number }[] = []
  for (const from of await leftOf(asker, formerly)) {
    const feed = formerly.get(from)!
    const [{ listings }] = await asker.all<{ listings: number }>(
      'SELECT count(*) AS listings FROM listing WHERE feed = $1 AND owned',
      [from],
    )
    // Found by its column, so that tables added later are not missed.
    const tables = await asker.all<{ name: string; keys: string[] }>(
      `SELECT c.relname AS name, coalesce((SELECT array_agg(k.attname::text) FROM pg_index AS i
          JOIN pg_attribute AS k ON k.attrelid = c.oid AND k.attnum = ANY (i.indkey)
          WHERE i.indrelid = c.oid AND i.indisprimary), '{}') AS keys
      FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'feed'
      WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY 1`,
    )
    for (const { name, keys } of tables) {
      const others = keys.filter((key) => key !== 'feed')
      const same = others.map((key) => `AND b.${key} = a.${key}`).join(' ')
      if (keys.includes('feed'))
        await asker.run(
          `DELETE FROM ${name} AS a WHERE feed = $1 AND EXISTS (SELECT 1 FROM ${name} AS b WHERE b.feed = $2 ${same})`,
          [from, feed],
        )
      await asker.run(`UPDATE ${name} SET feed = $2 WHERE feed = $1`, [from, feed])
    }
    for (const { chatbot, name: before, value } of await asker.all<LearntNumber>(
      'SELECT chatbot, name, value FROM learnt',
    )) {
      const name = renamedNumber(before, from, feed)
      if (name === null) continue
      await asker.run(
        `INSERT INTO learnt VALUES ($1, $2, $3)
        ON CONFLICT (chatbot, name) DO UPDATE SET value = greatest(learnt.value, excluded.value)`,
        [chatbot, name, value],
      )
      await asker.run('DELETE FROM learnt WHERE chatbot = $1 AND name = $2', [chatbot, before])
    }
    // A feed without a complete delivery has nothing that the next one could be compared with, and one that never loaded anything
    // would be a beginner, with whom the guard's rules sleep.
    await asker.run("DELETE FROM feed WHERE name = $1 AND (complete_at IS NULL OR coalesce(loaded, 'null') = 'null')", [
      feed,
    ])
    // If they filled two chatbots, the feed is a beginner in neither: what it has in the other one was there before.
    await asker.run(
      `UPDATE feed SET loaded = jsonb_set(loaded::jsonb, '{at}',
        to_jsonb((SELECT coalesce(max(sent_at), 0) + 1 FROM listing WHERE feed = $2)))::text
      WHERE name = $2 AND loaded::jsonb ->> 'chatbot' <> (SELECT loaded::jsonb ->> 'chatbot' FROM feed WHERE name = $1)`,
      [from, feed],
    )
    await asker.run('DELETE FROM feed WHERE name = $1 AND EXISTS (SELECT 1 FROM feed WHERE name = $2)', [from, feed])
    // "Not modified" would only be about what was delivered under one of the names.
    await asker.run('UPDATE feed SET name = $2 WHERE name = $1', [from, feed])
    await asker.run('UPDATE feed SET validators = NULL WHERE name = $1', [feed])
    handed.push({ feed, from, listings })
  }
  return handed
}
