// Keeps the heap's part for young objects as small as it begins, a few MB. It grows to a hundred otherwise, while what is read
// and sent passes through it, and is not given back; a run is no faster for it. V8 reads this flag whenever it would grow.
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--semi-space-growth-factor=1')
// The part for old objects grows by so many per cent of what is in use before it is collected: by itself V8 lets it come to
// several times that, as it does what lies outside of it. Both cost a run some five per cent of its processor time.
setFlagsFromString('--heap-growing-percent=30')
