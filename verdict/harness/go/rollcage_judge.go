package main

// Runs the test code against functions in another sandbox, and reports over descriptor 4. No code
// of the solution is in this program: its functions are stubs that ask over descriptor 3. The
// report is one JSON line with the run's nonce, written when every test is over.

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const rollcageMessageMax = 2000

// The test functions of one id.
type rollcageGroup struct {
	id    string
	tests []testing.InternalTest
}

type rollcageResult struct {
	Id       string `json:"id"`
	Status   string `json:"status"`
	Message  string `json:"message"`
	Line     *int   `json:"line"`
	Duration int64  `json:"duration_ms"`
}

type rollcageReport struct {
	Version       int               `json:"version"`
	Nonce         string            `json:"nonce"`
	Load          map[string]string `json:"load"`
	VerifierError *string           `json:"verifier_error"`
	Tests         []rollcageResult  `json:"tests"`
	Changed       []string          `json:"changed"`
	Gone          *string           `json:"gone"`
	Complete      bool              `json:"complete"`
}

type rollcageReply struct {
	Ok     []interface{} `json:"ok"`
	Args   []interface{} `json:"args"`
	Panic  *string       `json:"panic"`
	Cannot *string       `json:"cannot"`
}

// What the solution did instead of returning.
type rollcageThrew struct{ why string }

func (threw rollcageThrew) String() string { return threw.why }
func (threw rollcageThrew) Error() string  { return threw.why }

var (
	rollcageSocket  *os.File
	rollcageLock    sync.Mutex
	rollcageGone    string
	rollcageRefused string
)

// Calls a function of the solution: `args` and `results` point to variables of its types.
func rollcageCall(name string, args []interface{}, results []interface{}) {
	rollcageLock.Lock()
	defer rollcageLock.Unlock()
	if rollcageGone != "" {
		panic(rollcageThrew{"the solution is gone: " + rollcageGone})
	}
	defer func() {
		thrown := recover()
		if cannot, is := thrown.(rollcageCannotCross); is {
			rollcageRefuse(cannot.why)
		}
		if thrown != nil {
			panic(thrown)
		}
	}()
	reply := rollcageAsk(name, args)
	if reply.Panic != nil {
		panic(rollcageThrew{"the solution panicked: " + *reply.Panic})
	}
	if reply.Cannot != nil {
		rollcageRefuse(*reply.Cannot)
	}
	rollcageTake(reply, args, results)
}

func rollcageRefuse(why string) {
	if rollcageRefused == "" {
		rollcageRefused = why
	}
	panic(rollcageThrew{why})
}

func rollcageAsk(name string, args []interface{}) rollcageReply {
	trees := make([]interface{}, len(args))
	for at, arg := range args {
		trees[at] = rollcagePut(reflect.ValueOf(arg).Elem(), 0)
	}
	var reply rollcageReply
	err := rollcageSend(rollcageSocket, map[string]interface{}{"call": name, "args": trees})
	if err == nil {
		err = rollcageReceive(rollcageSocket, &reply)
	}
	if err != nil {
		rollcageLose(err.Error())
	}
	return reply
}

func rollcageLose(why string) {
	if rollcageGone == "" {
		rollcageGone = why
	}
	panic(rollcageThrew{"the solution is gone: " + rollcageGone})
}

func rollcageTake(reply rollcageReply, args []interface{}, results []interface{}) {
	defer func() {
		if recover() != nil {
			rollcageLose("its answer cannot be read")
		}
	}()
	if len(reply.Ok) != len(results) || len(reply.Args) != len(args) {
		panic("another number of values")
	}
	for at, result := range results {
		into := reflect.ValueOf(result).Elem()
		into.Set(rollcageGet(reply.Ok[at], into.Type(), 0))
	}
	for at, arg := range args {
		mine := reflect.ValueOf(arg).Elem()
		rollcageWriteBack(mine, rollcageGet(reply.Args[at], mine.Type(), 0))
	}
}

// Puts what a call made of an argument into the caller's own slice or map.
func rollcageWriteBack(mine, now reflect.Value) {
	switch mine.Kind() {
	case reflect.Slice:
		for at := 0; at < mine.Len() && at < now.Len(); at++ {
			inner := mine.Index(at)
			if kind := inner.Kind(); kind == reflect.Slice || kind == reflect.Map {
				if inner.Len() == now.Index(at).Len() && !inner.IsNil() {
					rollcageWriteBack(inner, now.Index(at))
					continue
				}
			}
			inner.Set(now.Index(at))
		}
	case reflect.Map:
		if mine.IsNil() || now.IsNil() {
			return
		}
		for _, key := range mine.MapKeys() {
			if !now.MapIndex(key).IsValid() {
				mine.SetMapIndex(key, reflect.Value{})
			}
		}
		for walk := now.MapRange(); walk.Next(); {
			mine.SetMapIndex(walk.Key(), walk.Value())
		}
	}
}

// Text that the tests have logged since it was asked for last.
type rollcageLog struct {
	file *os.File
	read int64
}

func (log *rollcageLog) take() string {
	info, err := log.file.Stat()
	if err != nil || info.Size() <= log.read {
		return ""
	}
	text := make([]byte, info.Size()-log.read)
	count, _ := log.file.ReadAt(text, log.read)
	log.read += int64(count)
	return string(text[:count])
}

var rollcagePlace = regexp.MustCompile(`rollcage_test_[a-z0-9]+\.go:(\d+)`)
var rollcageNoise = regexp.MustCompile(`(?m)^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP):).*$\n?|^\s*Error Trace:.*$\n?`)

// Runs one test function and puts what came of it into its group's result.
func rollcageRun(result *rollcageResult, log *rollcageLog, function func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Cleanup(func() {
			text := log.take()
			if rollcageRefused != "" {
				text, result.Status = rollcageRefused, "failed"
			} else if rollcageGone != "" {
				text, result.Status = "the solution is gone: "+rollcageGone, "error"
			} else if t.Failed() {
				if result.Status != "error" {
					result.Status = "failed"
				}
			} else if t.Skipped() && result.Status == "" {
				result.Status = "skipped"
			} else if !t.Skipped() && (result.Status == "" || result.Status == "skipped") {
				result.Status = "passed"
			}
			if (result.Status == "failed" || result.Status == "error") && result.Message == "" {
				result.Line = rollcageLine(text)
				result.Message = rollcageShort(strings.TrimSpace(rollcageNoise.ReplaceAllString(text, "")))
				if result.Message == "" {
					result.Message = t.Name() + " failed"
				}
			}
		})
		defer func() {
			if thrown := recover(); thrown != nil {
				t.Errorf("panic: %v", thrown)
				result.Status = "error"
			}
		}()
		function(t)
	}
}

func rollcageLine(text string) *int {
	found := rollcagePlace.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	line, err := strconv.Atoi(found[1])
	if err != nil {
		return nil
	}
	return &line
}

func rollcageShort(text string) string {
	if len(text) > rollcageMessageMax {
		text = text[:rollcageMessageMax] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}

func rollcageLoad() map[string]string {
	defer func() { _ = recover() }()
	rollcageAsk("", nil)
	return map[string]string{"state": "ok"}
}

func main() {
	rollcageSocket = rollcageFile(3, "socket")
	reportFile := rollcageFile(4, "report")
	report := rollcageReport{Version: 1, Tests: []rollcageResult{}, Changed: []string{}}
	nonce, err := os.ReadFile(".rollcage/nonce")
	if err != nil {
		panic(err)
	}
	report.Nonce = string(nonce)
	finish := func() {
		report.Complete = true
		line, err := json.Marshal(report)
		if err != nil {
			panic(err)
		}
		if _, err = reportFile.Write(append(line, '\n')); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	report.Load = rollcageLoad()
	if report.Load == nil {
		report.Load = map[string]string{"state": "gone"}
		finish()
	}
	logFile, err := os.CreateTemp("", "rollcage-log")
	if err != nil {
		panic(err)
	}
	os.Stdout = logFile
	log := &rollcageLog{file: logFile}
	all := func(t *testing.T) {
		for _, group := range rollcageGroups {
			result := &rollcageResult{Id: group.id}
			started := time.Now()
			rollcageRefused = ""
			t.Run("group", func(t *testing.T) {
				for _, test := range group.tests {
					t.Run(test.Name, rollcageRun(result, log, test.F))
				}
			})
			result.Duration = time.Since(started).Milliseconds()
			if result.Status == "" {
				result.Status, result.Message = "error", "no test function ran"
			}
			if rollcageGone != "" && report.Gone == nil {
				id := group.id
				report.Gone = &id
			}
			report.Tests = append(report.Tests, *result)
		}
		finish()
	}
	testing.Init()
	if err := flag.Set("test.v", "true"); err != nil {
		panic(fmt.Sprint(err))
	}
	testing.Main(func(pattern, name string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "rollcage", F: all}}, nil, nil)
}
