import { isHome } from '../kinds.ts'
import { tables, wordKey } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Converter } from './converter.ts'
import { readableLine } from './text.ts'

/**
 * One of a field's values, found by `wordKey` in the rule's `choices`, then in its `table`, then among the values. Any other
 * word becomes `otherwise` ('': absent), or a problem; `keepWordAs` keeps it in ExtensionColumn under that key, and lets a known word
 * of a later path decide.
 */
export const choice: Converter = {
  yields: 'text',
  takes: ['split', 'nth', 'choices', 'table', 'otherwise', 'keepWordAs'],
  needsFrom: true,
  build: (building) => {
    const { rule, field } = building
    const words = new Map<string, string>(rule.table === undefined ? [] : tables[rule.table]())
    for (const value of field?.choices ?? []) words.set(wordKey(value), value)
    for (const [word, value] of Object.entries(rule.choices ?? {})) words.set(wordKey(word), value)
    if (words.size === 0) throw new RuleError('choice needs choices or a table')
    for (const value of [...words.values(), rule.otherwise ?? '']) {
      if (value !== '' && field?.choices && !field.choices.includes(value)) {
        throw new RuleError(`"${value}" is not a value of ${field.name} (${field.choices.join(', ')})`)
      }
    }
    const known = field?.choices ?? Object.keys(rule.choices ?? {})
    const accepted = known.length === 0 ? `the words of ${rule.table}` : `one of ${known.slice(0, 20).join(', ')}`
    const name = field?.name ?? 'ExtensionColumn'
    return (node, making) => {
      const found = building.text(node)
      if (found === undefined) return undefined
      const value = words.get(wordKey(found))
      if (value !== undefined) return value === '' ? undefined : value
      if (rule.otherwise === undefined) {
        making.unmapped?.(name, found)
        return new Unreadable(found, `needs ${accepted}; map this word with choices`)
      }
      // Without `keepWordAs`, `otherwise` is the normal case for words without a choice.
      if (rule.keepWordAs !== undefined) {
        making.kept.push({ Key: rule.keepWordAs, value: readableLine(found) })
        // A strange kind of `Land` is land, but a strange kind of `Residential` need not be a house.
        const certain = building
          .texts(node)
          .map((text) => words.get(wordKey(text)))
          .find((other) => other !== undefined && other !== '' && !isHome(other))
        if (certain !== undefined) return certain
        making.unmapped?.(name, found)
      }
      return rule.otherwise === '' ? undefined : rule.otherwise
    }
  },
}

/** Status by the `statuses` of the preset and the feed; a word that means removal ends the record. */
export const status: Converter = {
  yields: 'text',
  takes: [],
  needsFrom: true,
  build: (building) => {
    const { field, statuses, from } = building
    if (field?.name !== 'Status') throw new RuleError('status is for the field Status only')
    const targets = new Map(Object.entries(statuses).map(([word, target]) => [wordKey(word), target]))
    const source = from.map((select) => select.path).join(' or ')
    return (node, making) => {
      const found = building.text(node)
      if (found === undefined) return undefined
      const target = targets.get(wordKey(found))
      if (target === undefined) {
        making.unmapped?.('Status', found)
        return new Unreadable(found, `is an unknown word in ${source}; map it with statuses`)
      }
      const saleType = making.listing.SaleType
      if (typeof target !== 'string' && saleType === undefined) {
        return new Unreadable(found, 'means different things for a sale and a lease, and SaleType is not known')
      }
      const meaning = typeof target === 'string' ? target : target[saleType ?? 'for_sale']
      if (meaning !== 'remove') return meaning
      making.removal = `the feed says ${source} is "${readableLine(found).slice(0, 100)}"`
      return undefined
    }
  },
}
