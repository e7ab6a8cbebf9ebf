package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var arithmeticFamily = family{
	"add-one-digit":       number(strconv.Itoa(4 + 3)),
	"add-two-digits":      number(strconv.Itoa(27 + 45)),
	"seven-times-six":     number(strconv.Itoa(7 * 6)),
	"apples-left":         number(strconv.Itoa(9 - 4)),
	"receipt-total":       number(fmt.Sprintf("%d.%02d", (3*249+2*185+1199)/100, (3*249+2*185+1199)%100)),
	"running-total":       runningTotal(12, 7, 25, 8),
	"long-multiplication": number(strconv.Itoa(347 * 86)),
	"make-24":             expression(24, 4, 7, 8, 8),
	"reduce-sum":          fraction(3*6+5*4, 4*6),
	"fewest-coins":        coins(87, 5, "50", "20", "10", "5", "2", "1"),
	"products-of-36": all(equations(3, "x", func(_ int, left, right, result int64) string {
		switch {
		case result != 36:
			return "the result has to be 36"
		case left > right:
			return "the smaller number comes first"
		}
		return ""
	}), asLines.items(distinct)),
	"primes-to-80": asCommas.selected(numbersFrom(50, 80), isPrime, "is not a prime number"),
}

var datesFamily = family{
	"date-iso":         exactly(day(2021, 3, 5)),
	"clock-24":         exactly("15:20"),
	"next-day":         choice("Wednesday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
	"february-mondays": asLines.selected(days(day(2024, 2, 1), day(2024, 2, 29)), func(d string) bool { return parseDay(d).Weekday() == time.Monday }, "is not a Monday"),
	"leap-years":       asLines.selected(numbersFrom(1890, 1920), func(y string) bool { return parseDay(y+"-12-31").YearDay() == 366 }, "is not a leap year"),
	"minutes-between":  asLines.strictly(eachItem(wholeNumber), right(mapped(minutes, [2]string{"08:50", "10:05"}, [2]string{"11:30", "12:15"}, [2]string{"23:40", "00:25"}, [2]string{"07:59", "18:00"})...)),
	"forty-five-days":  exactly(parseDay(day(2023, 1, 20)).AddDate(0, 0, 45).Format(time.DateOnly)),
}

func day(y int, m time.Month, d int) string {
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// parseDay reads a date that this package wrote.
func parseDay(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func days(first, last string) (out []string) {
	for d := parseDay(first); !d.After(parseDay(last)); d = d.AddDate(0, 0, 1) {
		out = append(out, d.Format(time.DateOnly))
	}
	return out
}

// minutes counts from the first time of day to the second, past midnight where
// that is the earlier one.
func minutes(span [2]string) string {
	at := func(s string) int { return int(atoi(s[:2])*60 + atoi(s[3:])) }
	return strconv.Itoa((at(span[1]) - at(span[0]) + 24*60) % (24 * 60))
}

var checksumFamily = family{
	"luhn-number":  then(shape(`\d{8}`, "a number of 8 digits and nothing else"), all(shape(`37.*`, "a number that starts with 37"), luhnValid)),
	"isbn-digit":   then(shape(`\d`, "one digit and nothing else"), exactly(isbn13("978316148410"))),
	"odd-or-even":  choice("odd", "odd", "even"),
	"parity-bits":  asLines.items(right(mapped(evenParity, "1011", "0000", "1111", "0100", "1101")...)),
	"digits-to-27": digitSum(5, 27),
	"rest-of-97":   then(shape(`[1-9]\d{3}`, "a number of 4 digits and nothing else"), all(divides(97, 1), divides(5, 0))),
}

var transformFamily = family{
	"reverse-three":   exactly(wordsBackwards("cup tree moon")),
	"copy-line":       exactly("The 3 red boxes are in room 12."),
	"upper-case":      exactly("WINTER"),
	"join-hyphens":    exactly("big-red-car"),
	"replace-word":    exactly("The dog sleeps on my bed."),
	"triple-word":     exactly(strings.Join([]string{"lemon", "lemon", "lemon"}, " ")),
	"plural-of-box":   exactly("boxes"),
	"rot13-words":     asLines.items(right(mapped(rot13, "Garden", "bottle", "window", "Marble")...)),
	"pig-latin":       asLines.items(right(mapped(pigLatin, "table", "apple", "string", "under", "school")...)),
	"roman-numerals":  asLines.items(right(mapped(roman, 9, 14, 40, 99, 2024)...)),
	"snake-case":      asLines.items(right(mapped(snakeCase, "userName", "maxRetryCount", "isOpen")...)),
	"star-vowels":     exactly(starVowels("A quiet morning on the island")),
	"run-length":      asLines.items(right(mapped(runLength, "aaabbc", "zzzzzz", "abcd", "xxyyyyx")...)),
	"reverse-letters": exactly(reversedWords("green tables stand outside")),
	"binary-numbers":  asLines.items(right(mapped(binary, 5, 12, 19, 32, 63)...)),
}
